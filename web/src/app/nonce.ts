declare global {
  /** Read by the component kit's own helpers for the style elements they make. */
  var __webpack_nonce__: string | undefined;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
globalThis.__webpack_nonce__ = nonce;

/** What a style element must carry: the page's rules refuse any other. */
export function styleNonce(): string {
  return nonce;
}
