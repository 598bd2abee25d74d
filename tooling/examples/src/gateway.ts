import { gateway, type Gateway } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/server'

export const createCompanyGateway = (crmUrl: string, keys: readonly string[]): Gateway =>
  gateway({
    name: 'company',
    version: '1.0.0',
    state: sealedState({ keys }),
    upstreams: {
      crm: { connect: () => connectAny(crmUrl), required: true },
      files: {
        connect: () =>
          connectAny({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '/srv/files'] }),
        tools: { deny: ['write_file', 'edit_file', 'move_file'] },
      },
    },
    // For hosts of older revisions.
    extensions: [legacy()],
  })
