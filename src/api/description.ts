import { describeApi } from '../http/description/openapi.ts';
import { PAGE_HEADERS, renderPage } from '../http/description/page.ts';
import { PAGE_STYLE } from '../http/description/style.ts';
import { type Route, route } from '../http/route.ts';
import { openApiShape } from '../schema/api/resources.ts';
import type { FollowedAssets } from '../schema/market.ts';

/**
 * Serves the OpenAPI document of all `routes`, and its HTML page. `routes` includes these routes once they are added.
 * @param assets The followed ones: the document names no other.
 */
export function descriptionRoutes(routes: readonly Route[], assets: FollowedAssets): Route[] {
  let built: { json: string; html: string } | null = null;
  // Built at the first request, because the list of routes is incomplete before.
  const description = () => {
    if (!built) {
      const document = describeApi(routes, assets);
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
      summary: 'API description as an OpenAPI 3.1 document',
      response: openApiShape,
      handle: () => ({ body: description().json }),
    }),
    route({
      method: 'GET',
      path: '/docs',
      auth: 'none',
      access: { feature: null },
      summary: 'API description as a web page',
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
      summary: 'Style sheet of the API description page',
      response: null,
      produces: 'text/css',
      handle: () => ({ contentType: 'text/css; charset=utf-8', headers: PAGE_HEADERS, body: PAGE_STYLE }),
    }),
  ];
}
