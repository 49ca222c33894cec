import { readAnswerExamples } from '../http/description/answerExamples.ts';
import { renderHome } from '../http/description/home.ts';
import { describeApi } from '../http/description/openapi.ts';
import { renderReference } from '../http/description/page.ts';
import { PAGE_STYLE } from '../http/description/style.ts';
import { DOCS_HEADERS, DOCS_HOME, DOCS_STYLE, REFERENCE } from '../http/pages/docsLayout.ts';
import { readSourceDocuments, summaryOf } from '../http/pages/documentList.ts';
import { guideGroups } from '../http/pages/guides.ts';
import { type Route, route } from '../http/route.ts';
import { openApiShape } from '../schema/api/resources.ts';
import type { FollowedAssets } from '../schema/market.ts';

interface Description {
  readonly json: string;
  readonly home: string;
  readonly reference: string;
}

/**
 * Serves the OpenAPI document of all `routes`, its web page, and the first page of the documentation. `routes` includes
 * these routes once they are added.
 * @param assets The followed ones: the document names no other.
 */
export function descriptionRoutes(routes: readonly Route[], assets: FollowedAssets): Route[] {
  let built: Description | null = null;
  // Built at the first request, because the list of routes is incomplete before.
  const description = () => {
    built ??= describe(routes, assets);
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
    pageRoute(DOCS_HOME, 'First page of the documentation', () => description().home),
    pageRoute(REFERENCE, 'API description as a web page', () => description().reference),
    route({
      method: 'GET',
      path: DOCS_STYLE,
      auth: 'none',
      access: { feature: null },
      summary: 'Style sheet of the documentation',
      response: null,
      produces: 'text/css',
      handle: () => ({ contentType: 'text/css; charset=utf-8', headers: DOCS_HEADERS, body: PAGE_STYLE }),
    }),
  ];
}

function pageRoute(path: string, summary: string, page: () => string): Route {
  return route({
    method: 'GET',
    path,
    auth: 'none',
    access: { feature: null },
    summary,
    response: null,
    produces: 'text/html',
    handle: () => ({ contentType: 'text/html; charset=utf-8', headers: DOCS_HEADERS, body: page() }),
  });
}

function describe(routes: readonly Route[], assets: FollowedAssets): Description {
  const document = describeApi(routes, assets);
  const documents = readSourceDocuments();
  const groups = guideGroups(documents.map(({ name }) => name));
  const summaries = new Map(documents.map((one) => [`docs/${one.name}`, summaryOf(one)] as const));
  return {
    json: JSON.stringify(document),
    home: renderHome(document, { groups, summaries }),
    reference: renderReference(document, { groups, answers: readAnswerExamples() }),
  };
}
