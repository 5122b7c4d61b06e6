package engine

import "strings"

// service is somebody's API that is known by the name of its host.
type service struct {
	engine string
	domain string // the host itself, or what it ends in
	prefix string // of the path, where an address has none
	api    string // "" for chat
	mute   bool   // its list of models says nothing of what can be asked for
}

// services is the table of hosts.
func services() []service {
	return []service{
		{engine: OpenAI, domain: "api.openai.com"},
		azure(),
		{engine: AzureOpenAI, domain: "cognitiveservices.azure.com", prefix: "/openai", mute: true},
		{engine: AzureOpenAI, domain: "services.ai.azure.com", prefix: "/openai", mute: true},
		{engine: OpenRouter, domain: "openrouter.ai", prefix: "/api"},
		{engine: DeepSeek, domain: "api.deepseek.com"},
		{engine: Groq, domain: "api.groq.com", prefix: "/openai"},
		{engine: Cerebras, domain: "api.cerebras.ai"},
		{engine: Mistral, domain: "mistral.ai"},
		{engine: Anthropic, domain: "api.anthropic.com", api: dialectAnthropic},
		{engine: Gemini, domain: "generativelanguage.googleapis.com", api: dialectGemini},
		{engine: NIM, domain: "integrate.api.nvidia.com"},
	}
}

// azure lists models that a resource could deploy, not its deployments, so its
// list is not asked for.
func azure() service {
	return service{engine: AzureOpenAI, domain: "openai.azure.com", prefix: "/openai", mute: true}
}

// serviceAt finds the service of a host; its engine is "" where there is none.
func serviceAt(host string) service {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	for _, s := range services() {
		if host == s.domain || strings.HasSuffix(host, "."+s.domain) {
			return s
		}
	}
	return service{}
}

// compatible tells whether an address asks for the OpenAI dialect of a service
// that has another one too.
func (p *Place) compatible() bool {
	return strings.HasSuffix(p.Root, "/openai")
}
