package api

// extras says which fields an engine takes beside those that nearly every
// server takes, and which names it wants.
type extras struct {
	running, ignoreEOS, minTokens, minNew, banEOS bool
	seed, randomSeed, timings, cache, tokenIDs    bool
	completion                                    bool // the limit is max_completion_tokens
	noOptions                                     bool // usage comes by itself, and stream_options may be refused
}

// extrasOf is the table of engines. One that is not in it gets the widely
// accepted fields alone: a strict server answers 400 to anything else, and a
// gateway may stand in front of one.
func extrasOf(engine string) extras {
	switch engine {
	case "vLLM", "NIM", "SGLang", "TensorRT-LLM", "teapot engine":
		return extras{running: true, ignoreEOS: true, minTokens: true, seed: true}
	case "LMDeploy":
		return extras{ignoreEOS: true, minNew: true, seed: true, tokenIDs: true}
	case "llama.cpp":
		return extras{ignoreEOS: true, seed: true, timings: true, cache: true}
	case "KoboldCpp":
		return extras{banEOS: true, seed: true}
	case "Ollama", "LM Studio", "mlx_lm", "TGI", "llamafile":
		return extras{seed: true}
	case "OpenAI", "Azure OpenAI":
		return extras{completion: true}
	case "Groq", "Cerebras":
		return extras{completion: true, seed: true}
	case "Mistral":
		return extras{randomSeed: true, noOptions: true}
	}
	return extras{}
}

// isOpenAI tells whether OpenAI's own models answer.
func isOpenAI(engine string) bool { return engine == "OpenAI" || engine == "Azure OpenAI" }
