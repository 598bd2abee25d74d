import { openPinFile } from '@x/gateway/node'
import { connectAny } from '@x/legacy/client'

export const files = {
  connect: () => connectAny({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] }),
  tools: {
    deny: ['write_file', 'edit_file', 'create_directory', 'move_file'],
    pins: openPinFile('pins.json').storeOf('files'),
  },
}
