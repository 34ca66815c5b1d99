package emulator

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"octet/engine/emulator/tiny"
	"octet/kvpool"
)

// transfer is how a request says that its prompt is computed here for another engine, or there for this one: the
// kv_transfer_params of vLLM's pull connector. A nil transfer is neither.
type transfer struct {
	RemoteDecode  bool   `json:"do_remote_decode"`
	RemotePrefill bool   `json:"do_remote_prefill"`
	Request       string `json:"remote_request_id"`
	Host          string `json:"remote_host"`
	Port          int    `json:"remote_port"`
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
	Host          string             `json:"remote_host"`
	Port          int                `json:"remote_port"`
	Tokens        int                `json:"remote_num_tokens"`
	TPSize        int                `json:"tp_size"`
}

// kvTransfer is what one engine hands another of a prompt.
type kvTransfer struct {
	Model   string   `json:"model"` // as asked for: of another adapter the keys and values are others
	Salt    string   `json:"cache_salt"`
	Tokens  []uint32 `json:"tokens"`
	KeysEtc []byte   `json:"kv,omitempty"` // of a model that computes
}

// transferReply keeps the one prompt's blocks for another engine and returns where they are; nil when the request did
// not ask, or there is no place for them, or there is more than one prompt.
func (an *answer) transferReply() *transferReply {
	a, e := an.ask, an.e
	if !a.body.Transfer.keeps() {
		return nil
	}
	if len(a.prompts) != 1 {
		return nil
	}
	p, blocks := an.transfer(0)
	key := e.exports.name(a.id)
	if p == nil || !e.exports.put(key, p, len(blocks)) {
		return nil
	}
	host, port := listener(a.local)
	return &transferReply{
		RemotePrefill: true, Blocks: [][]kvpool.BlockID{blocks}, Engine: e.cfg.Name,
		Request: key, Host: host, Port: port, Tokens: len(p.Tokens), TPSize: 1,
	}
}

// transfer returns a prompt as it was computed, and its blocks; nil of a hybrid.
func (an *answer) transfer(prompt int) (*kvTransfer, []kvpool.BlockID) {
	a := an.ask
	if an.e.cfg.Hybrid {
		return nil, nil
	}
	blocks, kv := an.choices[prompt*a.n].seq.computed()
	p := &kvTransfer{Model: a.model, Salt: a.body.CacheSalt, Tokens: a.prompts[prompt].tokens}
	if kv != nil {
		p.KeysEtc = kv.AppendBinary(nil)
	}
	return p, blocks
}

// listener is the address at which a request came.
func listener(local net.Addr) (host string, port int) {
	if tcp, ok := local.(*net.TCPAddr); ok {
		return tcp.IP.String(), tcp.Port
	}
	return "", 0
}

// hand gives another engine what is kept for it, once.
func (h handlers) hand(w http.ResponseWriter, r *http.Request) {
	key := r.PathValue("key")
	p, _ := h.exports.find(key)
	if p == nil {
		writeProblem(w, notFound("", "No blocks are kept under %q: they were fetched, or their lease has ended.", key))
		return
	}
	writeJSON(w, http.StatusOK, mustJSON(p))
	h.exports.drop(key)
}

// receive fetches the prompts of a that another engine has computed. Where it cannot, the request fails: the gateway
// may send it again without the transfer.
func (e *Emulator) receive(ctx context.Context, a *ask) error {
	if !e.fetches(a) {
		return nil
	}
	if a.body.Transfer.fetches() && len(a.prompts) != 1 {
		return transferProblem("the blocks are of another prompt")
	}
	a.received = make([]*tiny.Snapshot, len(a.prompts))
	for i := range a.prompts {
		if err := e.receivePrompt(ctx, a, i); err != nil {
			return err
		}
	}
	return nil
}

func (e *Emulator) receivePrompt(ctx context.Context, a *ask, i int) error {
	p, err := e.fetch(ctx, a, i)
	switch {
	case err != nil:
		return transferProblem("%v", err)
	case !slices.Equal(p.Tokens, a.prompts[i].tokens) || p.Model != a.model || p.Salt != a.body.CacheSalt:
		return transferProblem("the blocks are of another prompt")
	case e.cfg.Text != TextTiny:
		return nil
	}
	a.received[i], err = tiny.ReadSnapshot(p.KeysEtc)
	if err != nil || a.received[i].Tokens() != len(p.Tokens) || e.cfg.Hybrid {
		return transferProblem("the blocks are of another model: %v", err)
	}
	return nil
}

func transferProblem(format string, args ...any) *problem {
	return &problem{Message: "KV transfer failed: " + fmt.Sprintf(format, args...), Type: "KVTransferError",
		Code: http.StatusInternalServerError}
}

// fetchTimeout bounds a transfer between engines.
const fetchTimeout = 10 * time.Second

// fetch gets a prompt of a's from the engine that has computed it.
func (e *Emulator) fetch(ctx context.Context, a *ask, prompt int) (*kvTransfer, error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	if e.cfg.fetch != nil {
		return e.cfg.fetch(ctx, a)
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, a.source(prompt), nil)
	if err != nil {
		return nil, err
	}
	r.Close = true // the peers are many and each is asked rarely
	resp, err := e.cfg.Client.Do(r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %d from the engine that computed the prompt", resp.StatusCode)
	}
	p := new(kvTransfer)
	return p, decodeBody(resp.Body, p)
}
