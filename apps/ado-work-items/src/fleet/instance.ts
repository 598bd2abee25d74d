import { serveHttp } from '@x/transport-http/node'
import { ConfigurationError, connectionFrom } from '../azure-devops/connection.ts'
import { createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { createWorkItemsServer } from '../server/create-work-items-server.ts'
import { serveParent } from './child.ts'
import { signResults } from './instance-meta.ts'

// One instance of the server, as a process of its own.

const graceMs = 1_000
const connection = connectionFrom(process.env)
if (connection === undefined) throw new ConfigurationError('an instance needs a connection to Azure DevOps')

const server = createWorkItemsServer(createAzureDevOps(connection), {
  onError: (error, { method, name }) => console.error(`${method} ${name ?? ''}:`, error),
})
const instance = { id: Number(process.env['INSTANCE']), pid: process.pid }
const http = await serveHttp(signResults(server, instance))
serveParent(http.port, () => http.close({ graceMs }))
