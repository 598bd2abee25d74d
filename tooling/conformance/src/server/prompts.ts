import { prompt } from '@x/server'
import * as z from 'zod'
import { png } from './media.ts'

const suggestions = ['paris', 'park', 'party']

/** The prompts of the suite. */
export const prompts = [
  prompt('test_simple_prompt', {
    description: 'One message',
    run: () => 'This is a simple prompt for testing.',
  }),
  prompt('test_prompt_with_arguments', {
    description: 'Repeats its arguments',
    input: z.object({ arg1: z.string().describe('First argument'), arg2: z.string().describe('Second argument') }),
    complete: { arg1: (value) => suggestions.filter((word) => word.startsWith(value)) },
    run: ({ arg1, arg2 }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  }),
  prompt('test_prompt_with_embedded_resource', {
    description: 'Contains a resource',
    input: z.object({ resourceUri: z.string().describe('The URI of the resource') }),
    run: ({ resourceUri }) => [
      {
        role: 'user',
        content: {
          type: 'resource',
          resource: { uri: resourceUri, mimeType: 'text/plain', text: 'Embedded resource content for testing.' },
        },
      },
      { role: 'user', content: { type: 'text', text: 'Please process the embedded resource above.' } },
    ],
  }),
  prompt('test_prompt_with_image', {
    description: 'Contains an image',
    run: () => [
      { role: 'user', content: { type: 'image', data: png, mimeType: 'image/png' } },
      { role: 'user', content: { type: 'text', text: 'Please analyze the image above.' } },
    ],
  }),
]
