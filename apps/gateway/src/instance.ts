import { serveParent } from '@apps/ado-work-items/child'
import { listIn, readVariables, serverVariables, setting } from '@apps/front/environment'
import type { LogRecord } from '@x/client'
import { type Gateway, gateway } from '@x/gateway'
import { openPinFile } from '@x/gateway/node'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { sealedState } from '@x/state-codec'
import { serveHttp } from '@x/transport-http/node'
import { createOrdersServer } from './orders-server.ts'
import { filesystemProgram } from './programs.ts'

// One instance of the gateway. Its environment alone configures it, and it keeps nothing that another instance needs.

const graceMs = 2_000

const variables = {
  ...serverVariables,
  WORK_ITEMS_URL: setting('the address of the server for work items', URL.canParse),
  EVERYTHING_PROGRAM: setting('the path of the program of server-everything', () => true),
  FILES_FOLDER: setting('the path of the folder whose files are served', () => true),
  ORDERS_URL: setting('the address of the HTTP API for orders', URL.canParse),
  PINS_FILE: setting('the path of the file with the accepted definitions of tools', () => true),
}
const required = ['STATE_KEYS', 'WORK_ITEMS_URL', 'EVERYTHING_PROGRAM', 'FILES_FOLDER', 'ORDERS_URL', 'PINS_FILE']

const environment = readVariables(variables, process.env, { required })
const { PORT = '0', HOST } = environment
const http = await serveHttp(createCompanyGateway(environment), { port: Number(PORT), host: HOST })
serveParent(http.port, () => http.close({ graceMs }))

function createCompanyGateway(settings: Readonly<Record<string, string | undefined>>): Gateway {
  const { STATE_KEYS = '', WORK_ITEMS_URL = '', EVERYTHING_PROGRAM = '', FILES_FOLDER = '' } = settings
  const { ORDERS_URL = '', PINS_FILE = '' } = settings
  // A question that one instance asked is answered at any other one with the same keys.
  const state = sealedState({ keys: [...listIn(STATE_KEYS)] })
  const pins = openPinFile(PINS_FILE)
  return gateway({
    name: 'company',
    version: '0.1.0',
    state,
    upstreams: {
      'work-items': { connect: () => connectAny(WORK_ITEMS_URL, { log }), tools: { pins: pins.storeOf('work-items') } },
      everything: {
        connect: () => connectAny({ command: process.execPath, args: [EVERYTHING_PROGRAM] }, { log }),
        tools: { pins: pins.storeOf('everything') },
      },
      files: {
        connect: () => connectAny({ command: process.execPath, args: [filesystemProgram, FILES_FOLDER] }, { log }),
        tools: {
          deny: ['write_file', 'edit_file', 'create_directory', 'move_file'],
          pins: pins.storeOf('files'),
        },
      },
      // No process of its own: an HTTP API, whose tools come from its OpenAPI document.
      orders: {
        server: createOrdersServer(ORDERS_URL, state),
        tools: { pins: pins.storeOf('orders') },
      },
    },
    // For hosts of older revisions.
    extensions: [legacy()],
    log,
  })
}

function log({ level, code, name = 'gateway', message }: LogRecord): void {
  // server-everything has a tool that only runs as a task of an older revision.
  if (code === 'task_required') return
  const line = `${level} ${name}: ${message}`
  // The parent prints it with the step of the walk-through that caused it.
  if (process.connected) process.send?.({ log: line })
  else console.error(line)
}
