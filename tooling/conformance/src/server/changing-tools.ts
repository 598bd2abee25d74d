import type { ListKind } from '@x/exchange'
import { type Tool, tool } from '@x/server'

/** Creates tools that notify subscribed clients of a change (basic/patterns/subscriptions). */
export function changingTools(notifyListChanged: (kind: ListKind) => Promise<void>): readonly Tool[] {
  return [
    tool('test_trigger_tool_change', {
      description: 'Sends a notification that the list of tools has changed',
      run: async () => {
        await notifyListChanged('tools')
        return 'Sent a notification for the tools.'
      },
    }),
    tool('test_trigger_prompt_change', {
      description: 'Sends a notification that the list of prompts has changed',
      run: async () => {
        await notifyListChanged('prompts')
        return 'Sent a notification for the prompts.'
      },
    }),
  ]
}
