import { tool } from '@x/server'
import * as z from 'zod'

/** The tool of the measured calls. It has validated arguments, and repeats a text. */
export const echoTool = tool('echo', {
  description: 'Repeats a text',
  input: z.object({ text: z.string(), times: z.number().int().min(1).max(10) }),
  run: ({ text, times }) => text.repeat(times),
})
