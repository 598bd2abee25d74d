import { createServer, tool } from '@x/server'
import { serveStdio } from '@x/transport-stdio'
import { z } from 'zod'
import { answerCpu } from './answer-cpu.ts'

const echo = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})

answerCpu()
serveStdio(createServer({ name: 'bench', version: '1.0.0', tools: [echo] }))
