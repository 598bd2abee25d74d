/**
 * Whether a call is carried on as a task: `never`; `allowed` when its client takes tasks; or `required`, and a client that does
 * not is told that it would have to.
 */
export type TaskChoice = 'never' | 'allowed' | 'required'
