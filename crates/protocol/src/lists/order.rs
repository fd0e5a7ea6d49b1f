//! What has to be done before what: needs that are written down, and needs that follow from order.
//!
//! A group waits for the whole group before it, so that listing every pair would be quadratic. Such
//! needs are kept as blocks and only expanded for a person or a program to read.

use std::collections::{HashMap, HashSet};

use rekindle_model::graph::Graph;

use crate::lists::task::TaskFile;

/// More steps than this are not taken to find which needs would close a ring.
const MOST_STEPS: usize = 5_000_000;

/// The needs of all tasks.
#[derive(Debug)]
pub struct Needs {
    /// Every task that is work, in the order of the list.
    pub order: Vec<usize>,
    /// The place of each task in the order; tasks that are not work come last.
    rank: Vec<usize>,
    written: Vec<Vec<usize>>,
    by_order: Vec<Vec<Before>>,
    blocks: Vec<Vec<usize>>,
    /// Tasks that wait for each other.
    pub rings: Vec<Vec<usize>>,
    /// Whether of tasks that may not run beside others only the first of a group can start.
    pub are_groups_exclusive: bool,
}

/// What order puts before a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Before {
    /// One task.
    One(usize),
    /// A whole group or wave.
    Block(usize),
    /// All tasks before it in the list.
    Earlier,
}

impl Needs {
    /// Finds the needs of a file's tasks; `is_work` says which are more than a heading of others.
    pub fn of(file: &TaskFile, is_work: &[bool], children: &[Vec<usize>]) -> Self {
        let order = order(file, is_work, children);
        let mut rank = vec![usize::MAX; file.tasks.len()];
        for (place, &task) in order.iter().enumerate() {
            rank[task] = place;
        }
        let mut needs = Self {
            written: written(file, is_work, children),
            by_order: vec![Vec::new(); file.tasks.len()],
            blocks: Vec::new(),
            rings: Vec::new(),
            are_groups_exclusive: file.waves.is_none(),
            order,
            rank,
        };
        match &file.waves {
            Some(waves) => needs.follow_waves(waves),
            None => needs.follow_groups(file),
        }
        needs.leave_out_rings();
        needs.rings = needs.rings_of_written();
        needs
    }

    /// Groups wait for each other; inside a group tasks wait unless they may run side by side.
    fn follow_groups(&mut self, file: &TaskFile) {
        for members in by_group(file, &self.order) {
            let before = self.blocks.len().checked_sub(1);
            let mut last_alone = None;
            let mut side_by_side: Vec<usize> = Vec::new();
            for &task in &members {
                let own = &mut self.by_order[task];
                own.extend(before.map(Before::Block));
                if file.tasks[task].is_parallel {
                    own.extend(last_alone.map(Before::One));
                    side_by_side.push(task);
                } else {
                    if side_by_side.is_empty() {
                        own.extend(last_alone.map(Before::One));
                    }
                    own.extend(side_by_side.drain(..).map(Before::One));
                    last_alone = Some(task);
                }
            }
            self.blocks.push(members);
        }
    }

    /// Waves wait for each other; what is in no wave waits for all before it in the list.
    fn follow_waves(&mut self, waves: &[Vec<usize>]) {
        let mut is_in_wave = vec![false; self.by_order.len()];
        for wave in waves {
            let before = self.blocks.len().checked_sub(1);
            for &task in wave {
                is_in_wave[task] = true;
                self.by_order[task].extend(before.map(Before::Block));
            }
            self.blocks.push(wave.clone());
        }
        for &task in self.order.iter().skip(1) {
            if !is_in_wave[task] {
                self.by_order[task].push(Before::Earlier);
            }
        }
    }

    /// Returns everything that a task needs, in the order of the list.
    pub fn of_task(&self, task: usize) -> Vec<usize> {
        let mut all = self.written[task].clone();
        for before in &self.by_order[task] {
            all.extend_from_slice(self.expanded(task, before));
        }
        all.sort_unstable_by_key(|need| self.rank[*need]);
        all.dedup();
        all
    }

    fn expanded<'s>(&'s self, task: usize, before: &'s Before) -> &'s [usize] {
        match before {
            Before::One(one) => std::slice::from_ref(one),
            Before::Block(block) => &self.blocks[*block],
            Before::Earlier => &self.order[..self.rank[task]],
        }
    }

    /// Returns how many needs there are at most.
    pub fn count(&self) -> usize {
        let of = |task: &usize| {
            let by_order = self.by_order[*task].iter();
            let n: usize = by_order
                .map(|before| self.expanded(*task, before).len())
                .sum();
            n + self.written[*task].len()
        };
        self.order.iter().map(of).sum()
    }

    /// Returns for each task whether all that it needs is finished.
    pub fn are_met(&self, is_finished: &[bool]) -> Vec<bool> {
        let is_over = |task: &usize| is_finished[*task];
        let blocks: Vec<bool> = self
            .blocks
            .iter()
            .map(|block| block.iter().all(is_over))
            .collect();
        let mut met = vec![false; is_finished.len()];
        let mut all_earlier = true;
        for &task in &self.order {
            let by_order = self.by_order[task].iter().all(|before| match before {
                Before::One(one) => is_over(one),
                Before::Block(block) => blocks[*block],
                Before::Earlier => all_earlier,
            });
            met[task] = by_order && self.written[task].iter().all(is_over);
            all_earlier &= is_finished[task];
        }
        met
    }

    /// Returns whether all that one task needs is finished.
    pub fn is_met(&self, task: usize, is_finished: &[bool]) -> bool {
        let is_over = |task: &usize| is_finished[*task];
        let mut by_order = self.by_order[task].iter();
        self.written[task].iter().all(is_over)
            && by_order.all(|before| self.expanded(task, before).iter().all(is_over))
    }

    /// Leaves out needs that follow from order where the other task already needs this one.
    fn leave_out_rings(&mut self) {
        let mut chain = vec![0; self.rank.len()];
        for (place, &task) in self.blocks.iter().flatten().enumerate() {
            chain[task] = place;
        }
        // Needs that point back along groups and waves close no ring, and hardly any list has others.
        let is_ahead = |task: usize, need: &usize| chain[*need] >= chain[task];
        let mut tasks = self.order.iter();
        let has_ahead =
            tasks.any(|&task| self.written[task].iter().any(|need| is_ahead(task, need)));
        let has_loose =
            !self.are_groups_exclusive && self.written.iter().any(|needs| !needs.is_empty());
        if !has_ahead && !has_loose {
            return;
        }
        // What was written down before order is looked at, and order's needs as they are added.
        let mut needed_by: Vec<Vec<usize>> = vec![Vec::new(); self.written.len()];
        for &task in &self.order {
            for &need in &self.written[task] {
                needed_by[need].push(task);
            }
        }
        let mut steps = 0;
        for task in self.order.clone() {
            let waiting = self.waiting_for(task, &needed_by, &mut steps);
            let mut kept = Vec::new();
            for before in std::mem::take(&mut self.by_order[task]) {
                let needs = self.expanded(task, &before);
                steps += needs.len();
                if steps > MOST_STEPS {
                    kept.push(before);
                    continue;
                }
                let free = needs.iter().filter(|need| !waiting.contains(need));
                let free: Vec<usize> = free.copied().collect();
                for &need in &free {
                    needed_by[need].push(task);
                }
                if free.len() == needs.len() {
                    kept.push(before);
                } else {
                    kept.extend(free.into_iter().map(Before::One));
                }
            }
            self.by_order[task] = kept;
        }
    }

    /// Returns the tasks that need a task, directly or through others.
    fn waiting_for(
        &self,
        task: usize,
        needed_by: &[Vec<usize>],
        steps: &mut usize,
    ) -> HashSet<usize> {
        let mut waiting = HashSet::new();
        let mut open = vec![task];
        while let Some(one) = open.pop() {
            for &other in &needed_by[one] {
                *steps += 1;
                if *steps <= MOST_STEPS && waiting.insert(other) {
                    open.push(other);
                }
            }
        }
        waiting
    }

    /// Returns the rings among the needs that are written down, which order never adds to.
    fn rings_of_written(&self) -> Vec<Vec<usize>> {
        if self.written.iter().all(Vec::is_empty) {
            return Vec::new();
        }
        let name = |task: &usize| task.to_string();
        let edges = self.order.iter();
        let edges = edges.map(|task| (name(task), self.written[*task].iter().map(name).collect()));
        let (graph, _) = Graph::new(edges);
        let rings = graph.cycles(|_| false).into_iter();
        rings
            .map(|ring| ring.into_iter().map(|at| self.order[at]).collect())
            .collect()
    }
}

/// Returns the tasks that are work; a parent that is work comes after its children.
fn order(file: &TaskFile, is_work: &[bool], children: &[Vec<usize>]) -> Vec<usize> {
    let mut order = Vec::with_capacity(file.tasks.len());
    let mut is_placed = vec![false; file.tasks.len()];
    for start in 0..file.tasks.len() {
        if !is_work[start] || is_placed[start] {
            continue;
        }
        let mut open = vec![(start, 0)];
        while let Some((task, next)) = open.pop() {
            match children[task].get(next) {
                Some(&child) => open.extend([(task, next + 1), (child, 0)]),
                None if !std::mem::replace(&mut is_placed[task], true) => order.push(task),
                None => {}
            }
        }
    }
    order
}

/// Returns the tasks of each group, groups in the order of their first task.
fn by_group(file: &TaskFile, order: &[usize]) -> Vec<Vec<usize>> {
    let mut places = HashMap::new();
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &task in order {
        let place = *places.entry(file.tasks[task].group).or_insert_with(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        groups[place].push(task);
    }
    groups
}

/// Returns the needs that are written down and those of parents; a heading of others stands for them.
fn written(file: &TaskFile, is_work: &[bool], children: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let mut written: Vec<Vec<usize>> = vec![Vec::new(); file.tasks.len()];
    for (task, entry) in file.tasks.iter().enumerate() {
        let mut needs: Vec<usize> = entry
            .needs
            .iter()
            .flat_map(|need| work_below(*need, is_work, children))
            .collect();
        if is_work[task] {
            needs.extend(children[task].iter().copied());
        }
        if needs.is_empty() {
            continue;
        }
        for part in work_below(task, is_work, children) {
            written[part].extend_from_slice(&needs);
        }
    }
    for needs in &mut written {
        needs.sort_unstable();
        needs.dedup();
    }
    written
}

/// Returns the task itself if it is work, or else the work below it.
pub fn work_below(task: usize, is_work: &[bool], children: &[Vec<usize>]) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![task];
    while let Some(task) = open.pop() {
        if is_work[task] {
            found.push(task);
        } else {
            open.extend(children[task].iter().rev());
        }
    }
    found
}
