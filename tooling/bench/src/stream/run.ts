import { callOf } from '../http/call.ts'
import { compare } from '../http/run.ts'

const call = callOf('tools/call', { name: 'work', arguments: {} }, '"progress":1000')
const { body, ...rest } = call

/** A call that reports progress a thousand times. */
export const streamCall = { ...rest, body: body.replace('"_meta":{', '"_meta":{"progressToken":"t",') }

/** Measures a thousand notifications of progress in a call against bare writes of the same bytes. */
export async function run(options: { readonly quick: boolean }): Promise<void> {
  await compare(
    {
      title: 'tools/call with 1,000 notifications of progress',
      call: streamCall,
      connectionCounts: [1, 16],
      programs: [
        ['floor', 'stream/floor-server.js'],
        ['ours', 'stream/our-server.js'],
      ],
    },
    options,
  )
}
