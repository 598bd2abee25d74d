import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the panel of the page into one script, which the page of `mcpx dev` contains. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: fileURLToPath(new URL('../dist-web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    lib: { entry: 'panel.tsx', formats: ['es'], fileName: () => 'panel.js' },
  },
})
