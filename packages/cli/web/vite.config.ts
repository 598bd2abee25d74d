import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { viteSingleFile } from 'vite-plugin-singlefile'

/** Builds the page of `mcpx dev` into one file. The command lets its script and its style run by their hashes. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [viteSingleFile()],
  build: {
    outDir: fileURLToPath(new URL('../dist/dev', import.meta.url)),
    // The declarations of `@x/cli/dev` are in the same folder.
    emptyOutDir: false,
    modulePreload: false,
    target: 'es2022',
  },
})
