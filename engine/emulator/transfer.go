package emulator

import "octet/kvpool"

// transfer is how a request says that its prompt is computed here for another engine, or there for this one: the
// kv_transfer_params of vLLM's pull connector. A nil transfer is neither.
type transfer struct {
	RemoteDecode  bool `json:"do_remote_decode"`
	RemotePrefill bool `json:"do_remote_prefill"`
}

// fetches reports whether the prompt's blocks come from the engine that computed them.
func (t *transfer) fetches() bool { return t != nil && t.RemotePrefill }

// keeps reports whether the answer says where the prompt's blocks are.
func (t *transfer) keeps() bool { return t != nil && t.RemoteDecode }

// transferReply is what the decoding engine is to be sent, as it is.
type transferReply struct {
	RemotePrefill bool               `json:"do_remote_prefill"`
	RemoteDecode  bool               `json:"do_remote_decode"`
	Blocks        [][]kvpool.BlockID `json:"remote_block_ids"` // a list for each KV cache group, of which there is one
	Engine        string             `json:"remote_engine_id"`
	Request       string             `json:"remote_request_id"`
	Tokens        int                `json:"remote_num_tokens"`
	TPSize        int                `json:"tp_size"`
}

// transferReply returns where the first choice's prompt is; nil when the request did not ask.
func (an *answer) transferReply() *transferReply {
	if !an.ask.body.Transfer.keeps() {
		return nil
	}
	return &transferReply{
		RemotePrefill: true, Blocks: [][]kvpool.BlockID{an.choices[0].seq.blocks()}, Engine: an.e.cfg.Name,
		Request: an.ask.id, Tokens: len(an.ask.prompts[0].tokens), TPSize: 1,
	}
}
