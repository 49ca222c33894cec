import '@mantine/core/styles.css';
import './theme.css';
import { MantineProvider } from '@mantine/core';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { createRoot } from 'react-dom/client';
import { queries } from './api/hooks.ts';
import { styleNonce } from './app/nonce.ts';
import { router } from './router.tsx';
import { resolveColours, theme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new TypeError('index.html has no root');
createRoot(root).render(
  <MantineProvider
    theme={theme}
    cssVariablesResolver={resolveColours}
    defaultColorScheme="auto"
    getStyleNonce={styleNonce}
  >
    <QueryClientProvider client={queries}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </MantineProvider>,
);
