import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the pages into `dist-web`, for `servePage`. Nothing is inlined, because its policy allows no inline code. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: fileURLToPath(new URL('../dist-web', import.meta.url)),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      input: ['index.html', 'trace.html'].map((page) => fileURLToPath(new URL(page, import.meta.url))),
    },
  },
})
