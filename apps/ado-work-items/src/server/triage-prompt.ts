import { type Prompt, prompt } from '@x/server'
import * as z from 'zod'
import type { AzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { completeIds } from './complete-ids.ts'
import { toProtocolError } from './protocol-error.ts'
import { toLine, toOutput, workItemUri } from './work-item-output.ts'

/** Creates `triage_work_item`, a prompt that contains the work item and asks the model to assess it. */
export function triagePrompt(azureDevOps: AzureDevOps): Prompt {
  return prompt('triage_work_item', {
    title: 'Triage a work item',
    description: 'Judge a work item: is it clear, how severe is it, is it a duplicate, what should happen next?',
    input: z.object({
      workItemId: z
        .string()
        .regex(/^[1-9]\d{0,9}$/, 'should be the id of a work item')
        .describe('The id of the work item'),
    }),
    complete: { workItemId: (value, { ctx }) => completeIds(value, azureDevOps, ctx.signal) },
    async run({ workItemId }, ctx) {
      const item = await azureDevOps.getWorkItem(Number(workItemId), ctx.signal).catch((error) => {
        throw toProtocolError(error)
      })
      const text = JSON.stringify(toOutput(item, azureDevOps), null, 2)
      return [
        {
          role: 'user',
          content: {
            type: 'resource',
            resource: { uri: workItemUri(azureDevOps, item.id), mimeType: 'application/json', text },
          },
        },
        { role: 'user', content: { type: 'text', text: instructions(toLine(item)) } },
      ]
    },
  })
}

function instructions(line: string): string {
  return `Triage this work item: ${line}

1. Say in one sentence what it is about, and what is missing to act on it.
2. Look for duplicates with list_work_items (search for words of the title).
3. Propose priority, severity, assignee and next state, each with its reason.
4. Change nothing before I agree. Then use update_work_item with the rev that you read.`
}
