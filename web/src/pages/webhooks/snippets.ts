/** How a receiver verifies a request, in three languages; a test runs each one whose language is installed. */
export const SNIPPETS = {
  Node: `import { createHmac, timingSafeEqual } from 'node:crypto';

/** body: the raw bytes, before any parsing. */
function isSigned(secret, headers, body) {
  const id = headers['webhook-id'];
  const timestamp = headers['webhook-timestamp'];
  // An old request may be a replay.
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const expected = createHmac('sha256', key).update(\`\${id}.\${timestamp}.\`).update(body).digest();
  // Several signatures during a rotation.
  return String(headers['webhook-signature']).split(' ').some((entry) => {
    const given = Buffer.from(entry.replace('v1,', ''), 'base64');
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}`,
  Python: `import base64, hashlib, hmac, time

def is_signed(secret, headers, body):
    """body: the raw bytes, before any parsing."""
    id, timestamp = headers["webhook-id"], headers["webhook-timestamp"]
    # An old request may be a replay.
    if not timestamp.isdigit() or abs(time.time() - int(timestamp)) > 300:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    message = f"{id}.{timestamp}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest())
    # Several signatures during a rotation.
    given = headers["webhook-signature"].encode().split(b" ")
    return any(hmac.compare_digest(expected, signature) for signature in given)`,
  Go: `package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// IsSigned verifies the raw bytes of a body, before any parsing.
func IsSigned(secret string, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	sent, err := strconv.ParseInt(timestamp, 10, 64)
	// An old request may be a replay.
	if age := time.Since(time.Unix(sent, 0)).Abs(); err != nil || age > 5*time.Minute {
		return false
	}
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		return false
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + timestamp + "."))
	mac.Write(body)
	expected := mac.Sum(nil)
	// Several signatures during a rotation.
	for _, entry := range strings.Split(header.Get("webhook-signature"), " ") {
		given, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(entry, "v1,"))
		if err == nil && hmac.Equal(given, expected) {
			return true
		}
	}
	return false
}`,
} as const;
