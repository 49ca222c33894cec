import type { Operation } from './openapi.ts';

export interface NamedOperation {
  readonly path: string;
  /** In lower case, as in the document. */
  readonly method: string;
  readonly operation: Operation;
}

/** Variables of the shell that the example commands use. */
export const SETUP = `BASE=http://127.0.0.1:8080
KEY=svc_live_...
MARKET_ID=$(curl -s -H "Authorization: Bearer $KEY" "$BASE/v1/markets/resolved?limit=1" | sed 's/.*"market_id":"\\([^"]*\\)".*/\\1/')
START=$(date -u -d '-1 hour' +%FT%TZ)
END=$(date -u +%FT%TZ)`;

/** The command that sends the example of an operation. */
export function exampleCommand({ path, method, operation }: NamedOperation): string {
  const target = exampleTarget({ path, operation });
  if ('101' in operation.responses) return socketCommand(target, operation);
  const body = exampleBody(operation);
  const words = [
    'curl -s',
    ...(method === 'get' ? [] : [`-X ${method.toUpperCase()}`]),
    ...(path.startsWith('/app/') ? ['-b jar -c jar'] : []),
    ...(operation.security.some((one) => 'ApiKey' in one) ? ['-H "Authorization: Bearer $KEY"'] : []),
    ...(body === null ? [] : ['-H "Content-Type: application/json"']),
    `"$BASE${target}"`,
    ...(body === null ? [] : [`-d '${JSON.stringify(body)}'`]),
  ];
  return words.join(' ');
}

/** Node has a WebSocket client; curl has none everywhere. A browser sends its session by itself. */
function socketCommand(target: string, { security }: Operation): string {
  const print = 'onmessage = (e) => console.log(e.data)';
  if (!security.some((one) => 'ApiKey' in one))
    return `new WebSocket('${target}').${print} // in a signed-in browser`;
  const query = `${target.includes('?') ? '&' : '?'}api_key=$KEY`;
  return `node -e "new WebSocket('\${BASE/http/ws}${target}${query}').${print}"`;
}

function exampleTarget({ path, operation }: Pick<NamedOperation, 'path' | 'operation'>): string {
  const given = new Map(
    operation.parameters.flatMap(({ name, in: place, example }) =>
      example === undefined ? [] : [[`${place} ${name}`, shellValue(name, example)] as const],
    ),
  );
  const query = [...given].flatMap(([key, value]) =>
    key.startsWith('query ') ? [`${key.slice('query '.length)}=${value}`] : [],
  );
  const filled = path.replace(/\{(\w+)\}/g, (_all, name: string) => given.get(`path ${name}`) ?? '');
  return query.length === 0 ? filled : `${filled}?${query.join('&')}`;
}

/** Ids and times depend on the recording: they are variables of the shell. */
function shellValue(name: string, example: string | number): string {
  if (name === 'ts') return '$START';
  return /_id$|^(?:start|end)$/.test(name) ? `$${name.toUpperCase()}` : String(example);
}

function exampleBody({ requestBody }: Operation): object | null {
  const content = requestBody?.content as Record<string, { example?: object }> | undefined;
  return content?.['application/json']?.example ?? null;
}
