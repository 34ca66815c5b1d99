package engine

// refused are members that reach no engine, whatever passes else: some engine that answers to OpenAI's protocol obeys
// each of them.
var refused = [...][]string{
	{ // code and templates that run in the engine
		"chat_template", "custom_logit_processor", "logits_processors", "custom_params", "tokenizer",
		"reward_fn",
	},
	{ // tensors, and what is fetched or opened for the prompt
		"prompt_embeds", "input_embeds", "image_data", "video_data", "audio_data", "image_url", "video_url",
		"audio_url", "image_embeds", "multi_modal_data", "mm_processor_kwargs", "media_io_kwargs",
		"images_config", "images", "files", "lora", "lora_request", "return_hidden_states",
		"return_routed_experts",
	},
	{ // slots, sessions and caches of the engine
		"id_slot", "slot_id", "session_params", "session_id", "extra_key", "ngram_corpus_id", "custom_labels",
		"ec_transfer_params", "continue_from", "n_cache_reuse",
	},
	{ // other counts than those that are counted
		"n_predict", "num_predict", "n_cmpl", "max_new_tokens", "max_output_tokens", "max_length",
		"min_new_tokens", "num_return_sequences", "sampling_params", "truncate_prompt_tokens",
		"truncation_side", "num_ctx",
	},
	{ // where the request goes, and in whose name
		"api_base", "base_url", "api_key", "api_version", "api_type", "custom_llm_provider", "mock_response",
		"mock_tool_calls", "mock_timeout", "fallbacks", "model_list", "extra_headers", "extra_body",
		"extra_query", "headers", "proxy", "proxies", "endpoint", "deployment_id", "organization", "callbacks",
		"success_callback", "failure_callback", "user_config", "server_url", "authorization", "connector_id",
	},
}

// RefusedPrefixes begin the names of further members that are refused: settings of gateways that could stand behind
// this one.
var RefusedPrefixes = []string{"litellm_", "aws_", "vertex_", "azure_"}

func refusedMembers() (list []Member) {
	for _, names := range refused {
		for _, name := range names {
			list = append(list, Member{Name: name})
		}
	}
	return list
}
