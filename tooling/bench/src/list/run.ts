import { callOf } from '../http/call.ts'
import { compare } from '../http/run.ts'

/** The first page of the list, which holds all 500 tools. */
export const listCall = callOf('tools/list', {}, '"tool-498"')

/** Measures the list of 500 tools against a server that writes the same bytes from memory. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await compare(
    {
      title: 'tools/list with 500 tools',
      call: listCall,
      connectionCounts: [1, 16],
      programs: [
        ['floor', 'list/floor-server.js'],
        ['ours', 'http/many-tools-server.js'],
      ],
    },
    options,
  )
}
