/** Forms of the API reference that send a call to this service and show its answer. */

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required: boolean;
  readonly description: string;
  readonly example?: string | number;
}

interface Operation {
  readonly operationId: string;
  readonly parameters: readonly Parameter[];
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: object }>> };
  readonly responses: Readonly<Record<string, unknown>>;
}

interface ApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

const SHOWN_CHARACTERS_MAX = 20_000;
const HOUR_MS = 3_600_000;
/** Kept in this page alone, so that it must be entered once. */
let key = '';
let description: Promise<ApiDocument> | null = null;

/** Adds a button to each call that a page can send. */
export function addTryForms(): void {
  for (const section of document.querySelectorAll<HTMLElement>('.operation')) {
    const { method = '', path = '' } = section.dataset;
    // Sessions belong to the dashboard; streams need a client.
    if (path.startsWith('/app/') || section.querySelector('.command')?.textContent?.startsWith('node '))
      continue;
    const button = element('button', { className: 'button quiet', textContent: 'Try it' });
    button.addEventListener('click', async () => {
      description ??= fetch('/openapi.json').then((answer) => answer.json());
      const operation = (await description).paths[path]?.[method];
      if (operation) button.replaceWith(formOf({ method, path, operation }));
    });
    const command = section.querySelector('.command');
    (command?.closest('.block') ?? command)?.after(button);
  }
}

interface Call {
  readonly method: string;
  readonly path: string;
  readonly operation: Operation;
}

function formOf({ method, path, operation }: Call): HTMLFormElement {
  const form = element('form', { className: 'try' });
  const needsKey = operation.security.some((one) => 'ApiKey' in one);
  if (needsKey)
    form.append(
      labelled(
        'API key',
        element('input', { name: 'key', type: 'password', value: key, autocomplete: 'off' }),
      ),
    );
  for (const parameter of operation.parameters) {
    if (parameter.in === 'header') continue;
    const input = element('input', {
      name: parameter.name,
      value: initialValue(parameter),
      title: parameter.description,
    });
    form.append(labelled(parameter.required ? `${parameter.name} *` : parameter.name, input));
  }
  const example = operation.requestBody?.content['application/json']?.example;
  if (example !== undefined)
    form.append(
      labelled(
        'Body',
        element('textarea', { name: 'body', value: JSON.stringify(example, null, 2), spellcheck: false }),
      ),
    );
  if (method !== 'get') form.append(element('p', { textContent: 'This call changes your data.' }));
  form.append(element('button', { className: 'button', textContent: `Send ${method.toUpperCase()}` }));
  const result = element('div', {});
  result.setAttribute('aria-live', 'polite');
  form.append(result);
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    key = fieldOf(form, 'key')?.value.trim() ?? key;
    result.replaceChildren(element('p', { textContent: 'Sending…' }));
    result.replaceChildren(...(await answerOf({ method, path, operation }, form)));
  });
  return form;
}

/** Ids depend on the recording: an empty market id is replaced by the newest resolved market when the call is sent. */
function initialValue({ name, example }: Parameter): string {
  if (/_id$/.test(name)) return '';
  if (example !== undefined && (name === 'end' || name === 'start' || name === 'ts')) {
    const nowMs = performance.timeOrigin + performance.now();
    return new Date(nowMs - (name === 'end' ? 0 : HOUR_MS)).toISOString();
  }
  return example === undefined ? '' : String(example);
}

async function answerOf(call: Call, form: HTMLFormElement): Promise<HTMLElement[]> {
  const headers: Record<string, string> = key === '' ? {} : { authorization: `Bearer ${key}` };
  try {
    await fillMarket(form, headers);
    const body = fieldOf(form, 'body')?.value;
    const answer = await fetch(addressOf(call, form), {
      method: call.method.toUpperCase(),
      headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
      credentials: 'omit',
      ...(body === undefined ? {} : { body }),
    });
    return await shown(answer);
  } catch (error) {
    return [element('p', { className: 'problem', textContent: `Not sent: ${(error as Error).message}` })];
  }
}

async function fillMarket(form: HTMLFormElement, headers: Record<string, string>): Promise<void> {
  const field = fieldOf(form, 'market_id');
  if (field?.value !== '') return;
  const answer = await fetch('/v1/markets/resolved?limit=1', { headers, credentials: 'omit' });
  if (!answer.ok) return;
  field.value = ((await answer.json()) as { markets: { market_id: string }[] }).markets[0]?.market_id ?? '';
}

function addressOf({ path, operation }: Call, form: HTMLFormElement): string {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place } of operation.parameters) {
    const value = fieldOf(form, name)?.value ?? '';
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (place === 'query' && value !== '') query.set(name, value);
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
}

async function shown(answer: Response): Promise<HTMLElement[]> {
  const text = await answer.text();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
  const whole = isJson && text !== '' ? JSON.stringify(JSON.parse(text), null, 2) : text;
  const isCut = whole.length > SHOWN_CHARACTERS_MAX;
  const pre = element('pre', { tabIndex: 0 });
  pre.append(element('code', { textContent: isCut ? `${whole.slice(0, SHOWN_CHARACTERS_MAX)}\n…` : whole }));
  const line = `${answer.status} ${answer.statusText}, ${text.length.toLocaleString('en')} characters`;
  return [
    element('p', { className: answer.ok ? '' : 'problem', textContent: line }),
    ...(whole === '' ? [] : [pre]),
  ];
}

function labelled(name: string, input: HTMLElement): HTMLLabelElement {
  const label = element('label', {});
  label.append(element('span', { textContent: name }), input);
  return label;
}

function fieldOf(form: HTMLFormElement, name: string): HTMLInputElement | HTMLTextAreaElement | null {
  return form.querySelector(`[name="${name}"]`);
}

function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  properties: Partial<HTMLElementTagNameMap[K]>,
): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(tag), properties);
}
