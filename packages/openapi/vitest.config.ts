export { default } from '@tooling/vitest'
