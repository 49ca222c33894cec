declare global {
  /** The component kit's helpers read it for their style elements. */
  var __webpack_nonce__: string | undefined;
}

const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? '';
globalThis.__webpack_nonce__ = nonce;

/** The nonce of every style element: the content security policy refuses elements without it. */
export function styleNonce(): string {
  return nonce;
}
