package exchange

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Servers describes how to reach the servers. Secrets are in files, never in arguments.
type Servers struct {
	URLs        string // separated by commas
	Credentials string // a file with a JWT and its key
	NKey        string // a file with the seed of an nkey
	CA          string // a file with the certificates of the authority that signs those of the servers
	Cert, Key   string // files with the certificate of this client and its key
	Name        string // name of this client, shown by the servers
}

// A JetStream is the stream of a crawl on a cluster of NATS servers.
type JetStream struct {
	conn   *nats.Conn
	js     jetstream.JetStream
	crawl  string // name of the crawl
	stream string // name of the stream

	refused atomic.Pointer[string] // the last error of the servers about missing permissions
}

// requestTimeout is the maximum time of one request to the servers.
const requestTimeout = 5 * time.Second

// Connect connects to the servers. The stream of the crawl need not exist yet.
func Connect(s Servers, crawl string) (*JetStream, error) {
	if err := CheckName(crawl); err != nil {
		return nil, err
	}
	for _, f := range []struct{ flag, name string }{{"creds", s.Credentials}, {"nkey", s.NKey}, {"ca", s.CA}, {"cert", s.Cert}, {"key", s.Key}} {
		if f.name == "" {
			continue
		}
		file, err := os.Open(f.name)
		if err != nil {
			return nil, fmt.Errorf("-%s: %w\nhint: give a file on this machine that this user may read", f.flag, err)
		}
		file.Close()
	}
	j := &JetStream{crawl: crawl, stream: "SPOOR_" + crawl}
	options := []nats.Option{nats.ErrorHandler(j.noteRefused), nats.Name(s.Name), nats.MaxReconnects(-1), nats.ReconnectWait(500 * time.Millisecond), nats.Timeout(requestTimeout), nats.ReconnectBufSize(-1)}
	if s.Credentials != "" {
		options = append(options, nats.UserCredentials(s.Credentials))
	}
	if s.NKey != "" {
		o, err := nats.NkeyOptionFromSeed(s.NKey)
		if err != nil {
			return nil, fmt.Errorf("reading the nkey %s: %w\nhint: the file has a line that begins with SU, as nk -gen user prints it", s.NKey, err)
		}
		options = append(options, o)
	}
	if s.CA != "" {
		options = append(options, nats.RootCAs(s.CA))
	}
	if s.Cert != "" || s.Key != "" {
		options = append(options, nats.ClientCert(s.Cert, s.Key))
	}
	for url := range strings.SplitSeq(s.URLs, ",") {
		if strings.Contains(url, "@") {
			return nil, errors.New("an address of a server contains a password, which other users of the machine can see\nhint: give a file, with -creds or -nkey")
		}
	}
	conn, err := nats.Connect(s.URLs, options...)
	if err != nil {
		hint := "is a NATS server with JetStream running there? nats-server -js starts one"
		switch {
		case strings.Contains(err.Error(), "tls"):
			hint = "-ca has the certificates that sign those of the servers; -cert and -key are for servers that ask for one"
		case errors.Is(err, nats.ErrAuthorization):
			hint = "-creds, -nkey, or -cert and -key say who you are"
		}
		return nil, fmt.Errorf("connecting to %s: %w\nhint: %s", s.URLs, err, hint)
	}
	j.conn = conn
	if j.js, err = jetstream.New(conn); err != nil {
		conn.Close()
		return nil, err
	}
	return j, nil
}

// noteRefused stores errors about missing permissions, because the servers do not answer such requests.
func (s *JetStream) noteRefused(_ *nats.Conn, _ *nats.Subscription, err error) {
	if errors.Is(err, nats.ErrPermissionViolation) {
		text := err.Error()
		s.refused.Store(&text)
	}
}

// Close closes the connection.
func (s *JetStream) Close() { s.conn.Close() }

// Create creates the stream, if it does not exist. Each message is stored on as many servers as
// replicas says, and these reserve maxBytes.
func (s *JetStream) Create(ctx context.Context, replicas int, maxBytes int64) error {
	prefix := "spoor." + s.crawl
	return s.create(ctx, jetstream.StreamConfig{
		Name: s.stream, Subjects: []string{prefix + ".s", prefix + ".b.>", prefix + ".c.>"}, Storage: jetstream.FileStorage, Replicas: replicas,
		Retention: jetstream.LimitsPolicy, Discard: jetstream.DiscardNew, MaxBytes: maxBytes, AllowDirect: true, DenyDelete: true, DenyPurge: true,
	})
}

// create creates a stream, if it does not exist.
func (s *JetStream) create(ctx context.Context, config jetstream.StreamConfig) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for {
		look, cancel := context.WithTimeout(ctx, 4*time.Second)
		_, err := s.js.Stream(look, config.Name)
		cancel()
		if err == nil || !errors.Is(err, jetstream.ErrStreamNotFound) && (!errors.Is(err, context.DeadlineExceeded) || s.refused.Load() != nil) {
			return s.explain(err)
		}
		create, done := context.WithTimeout(ctx, 4*time.Second) // creating it on several clients at once can time out
		_, err = s.js.CreateStream(create, config)
		done()
		switch {
		case tooFewServers(err) && ctx.Err() == nil:
			time.Sleep(100 * time.Millisecond)
		case err == nil || !errors.Is(err, context.DeadlineExceeded) || s.refused.Load() != nil:
			return s.explain(err)
		case ctx.Err() != nil:
			return fmt.Errorf("creating the stream %s: the servers do not answer: %w\nhint: JetStream needs more than half of the servers of a cluster", config.Name, err)
		}
	}
}

// info returns the configuration and state of the stream.
func (s *JetStream) info(ctx context.Context) (*jetstream.StreamInfo, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.stream)
	if err != nil {
		return nil, s.explain(err)
	}
	return stream.CachedInfo(), nil
}

// Size returns the number of messages and bytes in the stream, and its maximum number of bytes.
func (s *JetStream) Size(ctx context.Context) (messages, bytes uint64, most int64, err error) {
	info, err := s.info(ctx)
	if err != nil {
		return 0, 0, 0, err
	}
	return info.State.Msgs, info.State.Bytes, info.Config.MaxBytes, nil
}

// CheckSize returns an error if the stream is nearly full, or does not exist. When it is full, no partition
// can commit.
func (s *JetStream) CheckSize(ctx context.Context) error {
	_, bytes, most, err := s.Size(ctx)
	if errors.Is(err, errPermanent) {
		return err
	}
	if err != nil || most <= 0 || float64(bytes) < 0.9*float64(most) {
		return nil // other errors are not about the size
	}
	return fmt.Errorf("the stream %s has %d of at most %d bytes; when it is full, the crawl waits\nhint: raise its limit: nats stream edit %[1]s --max-bytes 8GiB", s.stream, bytes, most)
}

// Publish implements [Stream].
func (s *JetStream) Publish(ctx context.Context, subject string, data []byte, id string) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	ack, err := s.js.Publish(ctx, subject, data, jetstream.WithMsgID(id), jetstream.WithExpectStream(s.stream))
	if err != nil {
		return 0, s.unpublished(ctx, err)
	}
	return ack.Sequence, nil
}

// PublishFirst implements [Stream].
func (s *JetStream) PublishFirst(ctx context.Context, subject string, data []byte) error {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	_, err := s.js.Publish(ctx, subject, data, jetstream.WithExpectLastSequencePerSubject(0), jetstream.WithExpectStream(s.stream))
	if isWrongSequence(err) {
		return nil // the stream has a message of this subject
	}
	return s.unpublished(ctx, err)
}

// unpublished explains why a message was not stored.
func (s *JetStream) unpublished(ctx context.Context, err error) error {
	if errors.Is(err, jetstream.ErrNoStreamResponse) {
		return s.missing(ctx)
	}
	return s.explain(err)
}

// isWrongSequence reports whether a message was refused because the last message of its subject is not
// the expected one.
func isWrongSequence(err error) bool {
	api, ok := errors.AsType[*jetstream.APIError](err)
	return ok && (api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence || api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequenceConstant)
}

// Range implements [Stream], with a direct request for several messages (nats-server 2.11 or later).
func (s *JetStream) Range(ctx context.Context, filter string, from uint64, limit int) ([]Message, error) {
	ctx, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	request, err := json.Marshal(struct {
		Seq   uint64 `json:"seq"`
		Batch int    `json:"batch"`
		Next  string `json:"next_by_subj"`
	}{from, limit, filter})
	if err != nil {
		return nil, err
	}
	inbox := s.conn.NewInbox()
	sub, err := s.conn.SubscribeSync(inbox)
	if err != nil {
		return nil, err
	}
	defer sub.Unsubscribe()
	if err := s.conn.PublishRequest("$JS.API.DIRECT.GET."+s.stream, inbox, request); err != nil {
		return nil, err
	}
	var list []Message
	for {
		m, err := sub.NextMsgWithContext(ctx)
		if errors.Is(err, nats.ErrNoResponders) {
			return nil, s.missing(ctx)
		}
		if err != nil {
			return nil, s.explain(err)
		}
		switch status := m.Header.Get("Status"); status {
		case "":
		case "204", "404": // end of the answer; no message
			more, _ := strconv.Atoi(m.Header.Get("Nats-Num-Pending"))
			if more == 0 || len(list) == 0 || len(list) >= limit {
				return list, nil
			}
			// A server limits how much it sends at once: request the rest.
			next, err := s.Range(ctx, filter, list[len(list)-1].Seq+1, limit-len(list))
			return append(list, next...), err
		case "503":
			return nil, s.missing(ctx)
		default:
			return nil, fmt.Errorf("reading messages: status %s: %s", status, m.Header.Get("Description"))
		}
		seq, err := strconv.ParseUint(m.Header.Get("Nats-Sequence"), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("reading messages: a message without its sequence number\nhint: nats-server 2.11 or later is needed")
		}
		list = append(list, Message{m.Header.Get("Nats-Subject"), seq, m.Data})
	}
}

// missing returns the error for a stream that does not answer: a permanent error if the stream does not
// exist.
func (s *JetStream) missing(ctx context.Context) error {
	if _, err := s.js.Stream(ctx, s.stream); err != nil {
		return s.explain(err)
	}
	return errors.New("the stream does not answer")
}

// Watch implements [Stream]. It does not read the messages, because a message may still be lost.
func (s *JetStream) Watch(filter string) (<-chan struct{}, func(), error) {
	changed := make(chan struct{}, 1)
	sub, err := s.conn.Subscribe(filter, func(*nats.Msg) {
		select {
		case changed <- struct{}{}:
		default:
		}
	})
	if err != nil {
		return nil, nil, err
	}
	return changed, func() { sub.Unsubscribe() }, nil
}

// explain adds a hint to an error of the servers, and makes it permanent if waiting does not help.
func (s *JetStream) explain(err error) error {
	api, _ := errors.AsType[*jetstream.APIError](err)
	refused := s.refused.Load()
	switch {
	case err == nil:
		return nil
	case refused != nil && errors.Is(err, context.DeadlineExceeded):
		return permanent{fmt.Errorf("%s\nhint: check -name, and that the certificate is for this crawl; doc/guide/machines.md has the permissions that a crawl needs", *refused)}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the servers do not answer: %w\nhint: more than half of the servers of a cluster are needed; then the same command goes on", err)
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return permanent{fmt.Errorf("there is no crawl %s on these servers (stream %s)\nhint: crawl -cluster with -topic and -seeds, or exchange create, begins it; one that was deleted is restored from a backup: nats stream restore", s.crawl, s.stream)}
	case errors.Is(err, jetstream.ErrJetStreamNotEnabled), errors.Is(err, jetstream.ErrJetStreamNotEnabledForAccount):
		return permanent{fmt.Errorf("the servers do not store messages: %w\nhint: start them with -js, or enable jetstream in their configuration", err)}
	case errors.Is(err, nats.ErrPermissionViolation), errors.Is(err, nats.ErrAuthorization):
		return permanent{fmt.Errorf("%w\nhint: doc/guide/machines.md has the permissions that a crawl needs", err)}
	case api != nil && api.ErrorCode == 10077:
		return fmt.Errorf("the stream %s is full: %w\nhint: raise its limit: nats stream edit %[1]s --max-bytes 8GiB", s.stream, err)
	case api != nil && (api.ErrorCode == 10005 || api.ErrorCode == 10047 || api.ErrorCode == 10074 || api.ErrorCode == 10023):
		return permanent{fmt.Errorf("the servers cannot reserve the storage of the stream, or there are fewer of them than replicas: %w\nhint: are all servers up? Otherwise a smaller -max-bytes, or -replicas 1 on a single server", err)}
	}
	return err
}

// tooFewServers reports whether servers that should store a stream are down, or have just started.
func tooFewServers(err error) bool {
	api, _ := errors.AsType[*jetstream.APIError](err)
	return api != nil && api.ErrorCode == 10005 && !strings.Contains(api.Description, "insufficient storage")
}
