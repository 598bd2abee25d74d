import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vite'

/** Builds the host that the test of the page uses. */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  build: { target: 'es2022', modulePreload: false },
})
