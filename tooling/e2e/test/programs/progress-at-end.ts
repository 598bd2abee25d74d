import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'

const report = tool('report', {
  description: 'Reports progress just before its result',
  run: (_, ctx) => {
    for (const step of [1, 2, 3]) ctx.progress(step, 3)
    return 'reported'
  },
})
serveStdio(createServer({ name: 'progress', version: '1.0.0', tools: [report], extensions: [legacy()] }))
