import { ConfigurationError, connectionFrom } from '../azure-devops/connection.ts'
import { createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { servePage } from '@apps/front/serve-page'
import { defineConversations } from '../server/conversation.ts'
import { createWorkItemsServer, type OnError } from '../server/create-work-items-server.ts'
import { findPage } from './find-page.ts'
import { taskOptionsFrom } from '../tasks/task-settings.ts'
import { signProgress, signResults } from './instance-meta.ts'
import { serveInstance } from './serve-instance.ts'
import { stateFrom } from './state-key.ts'

// One instance of the server, as a process of its own.

const connection = connectionFrom(process.env)
if (connection === undefined) throw new ConfigurationError('an instance needs a connection to Azure DevOps')

const state = stateFrom(process.env)
const onError: OnError = (error, { method, name }) => console.error(`${method} ${name ?? ''}:`, error)
const conversations = defineConversations(state, onError)
const tasks = taskOptionsFrom(process.env, (error) => console.error('tasks:', error))
const instance = { id: Number(process.env['INSTANCE']), pid: process.pid }
const server = createWorkItemsServer(createAzureDevOps(connection), {
  state,
  onError,
  conversations,
  tasks,
  use: [signResults(instance)],
  extensions: [signProgress(instance)],
})
const folder = findPage()
const page = folder === undefined ? undefined : servePage(folder)
const { port } = await serveInstance(server, page)
// The parent has gone, or wants this instance to stop.
process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
process.send?.({ port })
// The channel must not keep the process alive: the server alone does.
process.channel?.unref()
