import { gateway, type Gateway } from '@x/gateway'
import { openPinFile } from '@x/gateway/node'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/server'

export const createCompanyGateway = (crmUrl: string, keys: readonly string[]): Gateway =>
  gateway({
    name: 'company',
    version: '1.0.0',
    state: sealedState({ keys }),
    upstreams: {
      crm: {
        connect: () => connectAny(crmUrl),
        tools: { allow: ['find', 'add'], rename: { add: 'add_note' } },
        // While this upstream is unreachable, /readyz returns 503.
        required: true,
      },
      files: {
        connect: () =>
          connectAny({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/files'] }),
        tools: {
          deny: ['write_file', 'edit_file', 'move_file'],
          pins: openPinFile('pins.json').storeOf('files'),
        },
      },
    },
    // For hosts of older revisions.
    extensions: [legacy()],
  })
