import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the page into `dist-web`, for `servePage`. Nothing is inlined, because its policy allows no inline code. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: fileURLToPath(new URL('../dist-web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: false,
    target: 'es2022',
  },
  // `pnpm vite --config web/vite.config.ts` serves the page from its source, beside a running `npm start`.
  server: { host: '127.0.0.1', proxy: { '/mcp': 'http://127.0.0.1:3000' } },
})
