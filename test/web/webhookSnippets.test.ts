import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { signMessage } from '../../src/webhooks/delivery/signature.ts';
import { SNIPPETS } from '../../web/src/pages/webhooks/snippets.ts';
import { temporaryDirectory } from '../support/temporaryDirectory.ts';

const SECRET = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;
const BODY = '{"tier":"logical"}';

/** One request each, and whether a receiver must accept it. */
function requests(nowSeconds: number) {
  const sign = (timestamp: number) => signMessage(SECRET, { id: 'dl_1', timestamp, body: Buffer.from(BODY) });
  const headers = (timestamp: number, signature: string) => ({
    ...{ 'webhook-id': 'dl_1', 'webhook-timestamp': String(timestamp), 'webhook-signature': signature },
  });
  const old = nowSeconds - 3_600;
  return [
    { headers: headers(nowSeconds, sign(nowSeconds)), body: BODY, isValid: true },
    { headers: headers(nowSeconds, `v1,AAAA ${sign(nowSeconds)}`), body: BODY, isValid: true },
    { headers: headers(nowSeconds, sign(nowSeconds)), body: `${BODY} `, isValid: false },
    { headers: headers(nowSeconds, 'v1,AAAA'), body: BODY, isValid: false },
    { headers: headers(old, sign(old)), body: BODY, isValid: false },
  ];
}

const isAbsent = (command: string) => spawnSync(command, ['version']).error !== undefined;

describe('the snippets that verify a request', () => {
  // The snippets compare with the clock of this machine.
  const cases = requests(Math.floor(performance.timeOrigin / 1000));

  it('in Node accept what is signed and nothing else', () => {
    const folder = temporaryDirectory();
    const run = `
import { readFileSync } from 'node:fs';
const cases = JSON.parse(readFileSync('cases.json', 'utf8'));
console.log(JSON.stringify(cases.map((one) => isSigned('${SECRET}', one.headers, Buffer.from(one.body)))));`;
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
    writeFileSync(join(folder, 'run.mjs'), SNIPPETS.Node + run);
    const out = execFileSync(process.execPath, ['run.mjs'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(out)).toEqual(cases.map(({ isValid }) => isValid));
  });

  it('in Python accept what is signed and nothing else', () => {
    const folder = temporaryDirectory();
    const run = `
import json
cases = json.load(open("cases.json"))
print(json.dumps([is_signed("${SECRET}", one["headers"], one["body"].encode()) for one in cases]))`;
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
    writeFileSync(join(folder, 'run.py'), SNIPPETS.Python + run);
    const out = execFileSync('python3', ['run.py'], { cwd: folder, encoding: 'utf8' });
    expect(JSON.parse(out)).toEqual(cases.map(({ isValid }) => isValid));
  });

  it.skipIf(isAbsent('go'))('in Go accept what is signed and nothing else (skipped without Go)', () => {
    const folder = temporaryDirectory();
    const run = `package webhook

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"
)

func TestIsSigned(t *testing.T) {
	var cases []struct {
		Headers map[string]string
		Body    string
		IsValid bool
	}
	text, _ := os.ReadFile("cases.json")
	if err := json.Unmarshal(text, &cases); err != nil || len(cases) == 0 {
		t.Fatal(err)
	}
	for at, one := range cases {
		header := http.Header{}
		for name, value := range one.Headers {
			header.Set(name, value)
		}
		if IsSigned("${SECRET}", header, []byte(one.Body)) != one.IsValid {
			t.Error(at)
		}
	}
}
`;
    writeFileSync(join(folder, 'cases.json'), JSON.stringify(cases));
    writeFileSync(join(folder, 'webhook.go'), SNIPPETS.Go);
    writeFileSync(join(folder, 'webhook_test.go'), run);
    writeFileSync(join(folder, 'go.mod'), 'module webhook\n\ngo 1.21\n');
    execFileSync('go', ['test', './...'], { cwd: folder, encoding: 'utf8' });
  });
});
