import { describeApi } from '../http/description/openapi.ts';
import { PAGE_HEADERS, renderPage } from '../http/description/page.ts';
import { PAGE_STYLE } from '../http/description/style.ts';
import { type Route, route } from '../http/route.ts';
import { openApiShape } from '../schema/api/resources.ts';

/** The description of all `routes` (these included, once they are in the list), for programs and for people. */
export function descriptionRoutes(routes: readonly Route[]): Route[] {
  let built: { json: string; html: string } | null = null;
  // Built when first asked for: the list is not whole before.
  const description = () => {
    if (!built) {
      const document = describeApi(routes);
      built = { json: JSON.stringify(document), html: renderPage(document) };
    }
    return built;
  };
  return [
    route({
      method: 'GET',
      path: '/openapi.json',
      auth: 'none',
      access: { feature: null },
      summary: 'This description, as OpenAPI 3.1',
      response: openApiShape,
      handle: () => ({ body: description().json }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      auth: 'none',
      access: { feature: null },
      summary: 'This description, as a page',
      response: null,
      produces: 'text/html',
      handle: () => ({
        contentType: 'text/html; charset=utf-8',
        headers: PAGE_HEADERS,
        body: description().html,
      }),
    }),
    route({
      method: 'GET',
      path: '/docs/style.css',
      auth: 'none',
      access: { feature: null },
      summary: 'How the page looks',
      response: null,
      produces: 'text/css',
      handle: () => ({ contentType: 'text/css; charset=utf-8', headers: PAGE_HEADERS, body: PAGE_STYLE }),
    }),
  ];
}
