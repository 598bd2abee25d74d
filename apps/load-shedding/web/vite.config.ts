import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the page into `dist-web`, for `servePage`. Nothing is inlined, because its policy allows no inline code. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: fileURLToPath(new URL('../dist-web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
  },
})
