import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** The service's own address while `vite` serves the pages of a checkout being worked on. */
const SERVICE = 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // Replaced in each answer: `src/http/pages/serve.ts`.
  html: { cspNonce: '__UNDERROUND_NONCE__' },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2023',
    // Nothing becomes a data: address, so that the page's rules need not allow any script or font of one.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
  server: { proxy: { '/app': { target: SERVICE, ws: true }, '/health': SERVICE, '/readyz': SERVICE } },
});
