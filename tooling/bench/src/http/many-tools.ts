import { type Tool, tool } from '@x/server'
import * as z from 'zod'
import { echoTool } from './echo-tool.ts'

/** Returns tools that each have their own schema. The echo tool is in the middle. */
export function manyTools(count: number): Tool[] {
  const others: Tool[] = Array.from({ length: count - 1 }, (_, index) =>
    tool(`tool-${index}`, {
      description: `Runs operation ${index}, and reports its duration`,
      input: z.object({
        text: z.string().describe('The subject of the operation'),
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
