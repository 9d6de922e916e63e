/** A workflow that an event of the topic triggers: its step makes the file that the event's `seq` names. */
export function markWorkflow(name: string, topic: string, folder: string): string {
  return `
name: ${name}
triggers:
  - name: on-mark
    type: event
    topic: ${topic}
    input:
      seq: event_data.seq
steps:
  - name: mark
    type: bash
    command: touch ${folder}/{{seq}}
`;
}

/** A workflow of so many steps, one after another. */
export function sequence(name: string, count: number, step: string): string {
  const steps = Array.from({ length: count }, (_, at) => `  - { name: s${at}, ${step} }`);
  return `name: ${name}\nsteps:\n${steps.join("\n")}\n`;
}
