export { measureLoad } from './shedding/measure-load.ts'
