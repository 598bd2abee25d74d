import { type Tool, tool } from '@x/server'
import * as z from 'zod'
import { echoTool } from './echo-tool.ts'

/** So many tools, each with a schema of its own; the echo tool is in the middle. */
export function manyTools(count: number): Tool[] {
  const others: Tool[] = Array.from({ length: count - 1 }, (_, index) =>
    tool(`tool-${index}`, {
      description: `Does what tool ${index} does, and says how long it took`,
      input: z.object({
        text: z.string().describe('What it is about'),
        times: z
          .number()
          .int()
          .min(1)
          .max(10 + index),
      }),
      run: ({ text }) => text,
    }),
  )
  return others.toSpliced(count >> 1, 0, echoTool)
}
