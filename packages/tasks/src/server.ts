export { type TaskServer, withTasks } from './server/with-tasks.ts'
export type { TaskStore } from './engines/store-engine.ts'
export type { TaskOptions } from './server/options.ts'
