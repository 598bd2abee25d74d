export { type TaskServer, withTasks } from './server/with-tasks.ts'
export type { TaskOptions } from './server/options.ts'
