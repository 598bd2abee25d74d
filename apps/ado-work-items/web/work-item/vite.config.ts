import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'
import { viteSingleFile } from 'vite-plugin-singlefile'

/** Builds the page of `get_work_item` into one HTML file, because the frame of a host loads no other file. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  plugins: [viteSingleFile()],
  build: {
    outDir: fileURLToPath(new URL('../../dist-app', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
  },
})
