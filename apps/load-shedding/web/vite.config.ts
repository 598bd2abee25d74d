import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the panel into one script and one style, which the page of `mcpx dev` contains. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: {
    outDir: fileURLToPath(new URL('../dist-web', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    lib: { entry: 'src/panel.tsx', formats: ['es'], fileName: () => 'panel.js', cssFileName: 'panel' },
  },
})
