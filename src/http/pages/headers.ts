/** Content security policy of the page: it may run and load only resources of this service. */
const PAGE_RULES = [
  "default-src 'none'",
  "script-src 'self'",
  "worker-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data: blob:",
  "font-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

const COMMON = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
} as const;

/** For files whose name changes with their content. */
export const ASSET_HEADERS = { ...COMMON, 'cache-control': 'public, max-age=31536000, immutable' } as const;

/** For files that keep their name when they change. */
export const NAMED_HEADERS = { ...COMMON, 'cache-control': 'public, max-age=3600' } as const;

/**
 * For the page itself. It names the files of one build, so browsers must reload it each time.
 * @param nonce For the style elements of the component kit; new for each response.
 */
export function pageHeaders(nonce: string): Record<string, string> {
  return {
    ...COMMON,
    'cache-control': 'no-store',
    'content-security-policy': [...PAGE_RULES, `style-src 'self' 'nonce-${nonce}'`].join('; '),
    'permissions-policy': 'camera=(), geolocation=(), microphone=()',
    'x-frame-options': 'DENY',
  };
}
