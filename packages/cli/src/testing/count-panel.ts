import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import type { Panel } from '../dev/api/panel.ts'

/** Its data is a sum that its commands raise. */
export async function buildCountPanel(folder: string): Promise<Panel> {
  const outfile = join(folder, 'count.js')
  const source = fileURLToPath(new URL('../../web/src/testing/count-panel.tsx', import.meta.url))
  await build({
    entryPoints: [source],
    outfile,
    bundle: true,
    format: 'esm',
    jsx: 'automatic',
    jsxImportSource: 'preact',
  })
  let sum = 1
  const raised = new EventTarget()
  return {
    name: 'count',
    title: 'Counter',
    script: pathToFileURL(outfile),
    async *data(signal) {
      for (;;) {
        yield sum
        await once(raised, 'raised', { signal })
      }
    },
    run: async ({ by }) => {
      sum += Number(by)
      raised.dispatchEvent(new Event('raised'))
      return undefined
    },
  }
}
