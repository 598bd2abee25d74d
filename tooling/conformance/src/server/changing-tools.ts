import type { ListKind } from '@x/schema'
import { type Tool, tool } from '@x/server'

/** Tools that tell those who listen of a change (basic/patterns/subscriptions). */
export function changingTools(changed: (kind: ListKind) => Promise<void>): readonly Tool[] {
  return [
    tool('test_trigger_tool_change', {
      description: 'Tells that the list of tools changed',
      run: async () => {
        await changed('tools')
        return 'Told that the tools changed.'
      },
    }),
    tool('test_trigger_prompt_change', {
      description: 'Tells that the list of prompts changed',
      run: async () => {
        await changed('prompts')
        return 'Told that the prompts changed.'
      },
    }),
  ]
}
